import {
  checkDnsSubdomain,
  checkQualifiedName,
  type FieldPath,
  invalid,
  type Issue,
  required,
  validateName,
} from '../../machinery/values/index.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A name such as `example.com/drainer`: a label key that has a prefix. */
export function validateKey(path: FieldPath, value: string | undefined): Issue[] {
  if (!value) return [required(path)];
  const problems = checkQualifiedName(value);
  if (problems.length === 0 && !value.includes('/')) problems.push("must include a prefix (e.g. 'example.com/key')");
  return problems.map((detail) => invalid(path, value, detail));
}

/** The same where Kubernetes keeps its own domains to itself. */
export function validateForeignKey(path: FieldPath, value: string | undefined): Issue[] {
  const issues = validateKey(path, value);
  if (value && isReserved(value)) {
    issues.push(invalid(path, value, 'domain names *.k8s.io, *.kubernetes.io are reserved'));
  }
  return issues;
}

function isReserved(key: string): boolean {
  const domain = (key.split('/')[0] ?? '').trim().toLowerCase().replace(/\.+$/, '');
  return ['k8s.io', 'kubernetes.io'].some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`));
}

export function validatePodReference(
  path: FieldPath,
  pod: { readonly name?: string | undefined; readonly uid?: string | undefined },
): Issue[] {
  const { name, uid } = pod;
  const issues = name ? validateName(path.child('name'), name, checkDnsSubdomain) : [required(path.child('name'))];
  if (!uid) issues.push(required(path.child('uid')));
  else if (!UUID.test(uid)) {
    const text = 'must be a lowercase UUID in 8-4-4-4-12 format (e.g. 5477c2ff-f59f-4eb9-a0be-e54232323faa)';
    issues.push(invalid(path.child('uid'), uid, text));
  }
  return issues;
}
