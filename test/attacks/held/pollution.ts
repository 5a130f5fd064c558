/** Bodies that write to the prototypes of a careless JavaScript server. */
export interface Pollution {
  readonly name: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const to = (name: string, method: string, type: string, body: string): Pollution => ({
  name,
  method,
  headers: { 'content-type': type },
  body,
});
const POLLUTED = '{"polluted":"yes"}';
const base = '"apiVersion":"v1","kind":"ConfigMap"';

/** POST goes to the collection, PATCH and PUT to the object `victim`, which is there. */
export const pollutions: readonly Pollution[] = [
  to('__proto__ at the top', 'POST', 'application/json', `{${base},"metadata":{"name":"p0"},"__proto__":${POLLUTED}}`),
  to('__proto__ in metadata', 'POST', 'application/json', `{${base},"metadata":{"name":"p1","__proto__":${POLLUTED}}}`),
  to(
    '__proto__ as a label',
    'POST',
    'application/json',
    `{${base},"metadata":{"name":"p2","labels":{"__proto__":"yes"}}}`,
  ),
  to('__proto__ as data', 'POST', 'application/json', `{${base},"metadata":{"name":"p3"},"data":{"__proto__":"yes"}}`),
  to(
    'constructor.prototype',
    'POST',
    'application/json',
    `{${base},"metadata":{"name":"p4"},"constructor":{"prototype":${POLLUTED}}}`,
  ),
  to(
    '__proto__ in YAML',
    'POST',
    'application/yaml',
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: p5\n__proto__:\n  polluted: "yes"\n',
  ),
  to(
    '__proto__ by a YAML merge key',
    'POST',
    'application/yaml',
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: p6\n<<: {__proto__: {polluted: "yes"}}\n',
  ),
  to('merge patch', 'PATCH', 'application/merge-patch+json', `{"__proto__":${POLLUTED}}`),
  to('merge patch of data', 'PATCH', 'application/merge-patch+json', '{"data":{"__proto__":"yes"}}'),
  to(
    'strategic merge patch',
    'PATCH',
    'application/strategic-merge-patch+json',
    `{"metadata":{"__proto__":${POLLUTED}}}`,
  ),
  to(
    'JSON patch of the prototype',
    'PATCH',
    'application/json-patch+json',
    '[{"op":"add","path":"/__proto__/polluted","value":"yes"}]',
  ),
  to(
    'JSON patch of the constructor',
    'PATCH',
    'application/json-patch+json',
    '[{"op":"add","path":"/constructor/prototype/polluted","value":"yes"}]',
  ),
  to(
    'JSON patch, copied out of the prototype',
    'PATCH',
    'application/json-patch+json',
    '[{"op":"copy","from":"/__proto__","path":"/data"}]',
  ),
  to(
    'server-side apply',
    'PATCH',
    'application/apply-patch+yaml',
    `{${base},"metadata":{"name":"victim"},"data":{"__proto__":"yes"}}`,
  ),
];
