/** OpenAPI v2 and v3 of every served resource, from the registry and the schemas. */
export { OpenApi } from './open-api.ts';
export { openApiRoute } from './route.ts';
