export { createCodec } from './codec.ts';
export { DecodeError } from './decode-error.ts';
export { parseJson } from './json/parse.ts';
export { decodeProtobuf, encodeProtobuf } from './protobuf/envelope.ts';
export * from './structural/index.ts';
export { conform } from './typed/conform.ts';
export { parseYaml, yamlText } from './yaml/parse.ts';
