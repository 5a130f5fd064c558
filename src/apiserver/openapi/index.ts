export { type EncodedDocument, OpenApi } from './open-api.ts';
export { openApiRoute } from './route.ts';
