/** Bodies to objects and back (JSON, YAML, protobuf), by the schema of their kind. Knows patches and the registry only. */
export { createCodec } from './codec.ts';
export { DecodeError, TooLargeError } from './decode-error.ts';
export { parseJson } from './json/parse.ts';
export { decodeProtobuf, encodeProtobuf } from './protobuf/envelope.ts';
export * from './structural/index.ts';
export { readYamlApart } from './yaml/apart.ts';
export { parseYaml, yamlText } from './yaml/parse.ts';
