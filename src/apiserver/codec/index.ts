export { createCodec } from './codec.ts';
export { DecodeError, TooLargeError } from './decode-error.ts';
export { parseJson } from './json/parse.ts';
export { decodeProtobuf, encodeProtobuf } from './protobuf/envelope.ts';
export * from './structural/index.ts';
export { conform } from './typed/conform.ts';
export { readYamlApart } from './yaml/apart.ts';
export { parseYaml, yamlText } from './yaml/parse.ts';
