import type { APIService, APIServiceSpec } from '../../api/generated/apiregistration-v1.ts';
import { FieldPath, invalid, type Issue, required } from '../../machinery/values/index.ts';
import { ageColumn, nameColumn, table, text } from '../registry/columns.ts';
import { strategyOf } from '../registry/strategy.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const LAST_PORT = 65_535;

export const apiServiceStrategy = strategyOf<APIService>({
  // `v1.` names the core group.
  checkName: () => [],
  defaults({ spec }) {
    if (spec?.service !== undefined) spec.service.port ??= 443;
  },
  prepareForCreate(object) {
    object.status = {};
  },
  validate,
  validateUpdate: (object) => validate(object),
  table: table([
    nameColumn,
    text('Service', 'Which Service answers, or Local', ({ spec }) =>
      spec?.service === undefined ? 'Local' : `${spec.service.namespace}/${spec.service.name}`,
    ),
    text('Available', 'Whether it can be asked', ({ status }) => {
      const found = status?.conditions?.find(({ type }) => type === 'Available');
      if (found === undefined) return 'Unknown';
      return found.status === 'True' ? 'True' : `${found.status} (${found.reason})`;
    }),
    ageColumn,
  ]),
});

function validate({ metadata: { name = '' }, spec }: APIService): Issue[] {
  const path = FieldPath.of('spec');
  const { group = '', groupPriorityMinimum = 0, version = '', versionPriority = 0 } = spec ?? {};
  const issues: Issue[] = [];
  const wanted = `${version}.${group}`;
  if (name !== wanted) {
    const why = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
    issues.push(invalid(FieldPath.of('metadata', 'name'), name, why));
  }
  if (group === '' && version !== 'v1') {
    issues.push(required(path.child('group'), 'only v1 may have an empty group and it better be legacy kube'));
  }
  if (group !== '' && !SUBDOMAIN.test(group)) {
    issues.push(invalid(path.child('group'), group, 'must be a lowercase RFC 1123 subdomain'));
  }
  if (!LABEL.test(version)) issues.push(invalid(path.child('version'), version, 'must be an RFC 1035 label'));
  const priority = (field: string, value: number, most: number): void => {
    if (value > 0 && value <= most) return;
    issues.push(invalid(path.child(field), value, `must be positive and less than ${most}`));
  };
  priority('groupPriorityMinimum', groupPriorityMinimum, 20_000);
  priority('versionPriority', versionPriority, 1000);
  return [...issues, ...validateService(spec, path)];
}

function validateService(spec: APIServiceSpec | undefined, path: FieldPath): Issue[] {
  const { caBundle = '', insecureSkipTLSVerify = false, service } = spec ?? {};
  const issues: Issue[] = [];
  const skip = (why: string) => invalid(path.child('insecureSkipTLSVerify'), insecureSkipTLSVerify, why);
  if (service === undefined) {
    if (caBundle !== '') {
      const bytes = `${Buffer.from(caBundle, 'base64').length} bytes`;
      issues.push(invalid(path.child('caBundle'), bytes, 'local APIServices may not have a caBundle'));
    }
    if (insecureSkipTLSVerify) issues.push(skip('local APIServices may not have insecureSkipTLSVerify'));
    return issues;
  }
  const field = path.child('service');
  if (!service.namespace) issues.push(required(field.child('namespace')));
  if (!service.name) issues.push(required(field.child('name')));
  const { port = 0 } = service;
  if (port < 1 || port > LAST_PORT) {
    issues.push(invalid(field.child('port'), port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  if (insecureSkipTLSVerify && caBundle !== '') issues.push(skip('may not be true if caBundle is present'));
  return issues;
}
