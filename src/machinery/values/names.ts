import type { FieldPath } from './field-path.ts';
import { type Issue, invalid, tooLong } from './issue.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const longerThan = (max: number): string => `must be no more than ${max} characters`;

/** Each checker returns the reasons a value is refused; an empty list means it is fine. */
export type NameCheck = (value: string) => string[];

function check(pattern: RegExp, max: number, text: string): NameCheck {
  return (value) => {
    const problems: string[] = [];
    if (value.length > max) problems.push(longerThan(max));
    if (!pattern.test(value)) problems.push(text);
    return problems;
  };
}

/** Where only the dots are wrong, that is said. */
export const checkDnsLabel: NameCheck = (value) => {
  const problems: string[] = [];
  if (value.length > 63) problems.push(longerThan(63));
  if (!LABEL.test(value)) problems.push(SUBDOMAIN.test(value) ? 'must not contain dots' : LABEL_TEXT);
  return problems;
};
export const checkDnsSubdomain = check(SUBDOMAIN, 253, SUBDOMAIN_TEXT);
export const checkDns1035Label = check(LABEL_1035, 63, LABEL_1035_TEXT);
export const checkLabelValue = check(LABEL_VALUE, 63, LABEL_VALUE_TEXT);

/** Names that only must be safe as one path segment (RBAC objects). */
export const checkPathSegment: NameCheck = (value) => {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  const problems: string[] = [];
  for (const illegal of ['/', '%']) if (value.includes(illegal)) problems.push(`may not contain '${illegal}'`);
  return problems;
};

/** `name` or `prefix/name`, as label keys, annotation keys, finalizers and taint keys are spelled. */
export const checkQualifiedName: NameCheck = (value) => {
  const parts = value.split('/');
  const problems: string[] = [];
  const name = parts.length === 2 ? (parts[1] as string) : (parts[0] as string);
  if (parts.length > 2) {
    return [
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ];
  }
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === '') problems.push('prefix part must be non-empty');
    else problems.push(...checkDnsSubdomain(prefix).map((text) => `prefix part ${text}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push('name part must be no more than 63 characters');
  if (!QUALIFIED_PART.test(name)) problems.push(QUALIFIED_TEXT);
  return problems;
};

export function validateName(path: FieldPath, value: string, rule: NameCheck): Issue[] {
  return rule(value).map((detail) => invalid(path, value, detail));
}

export function validateLabels(path: FieldPath, labels: Record<string, unknown> | undefined): Issue[] {
  const issues: Issue[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    issues.push(...validateName(path, key, checkQualifiedName));
    issues.push(...validateName(path, String(value), checkLabelValue));
  }
  return issues;
}

const ANNOTATION_BYTES = 256 * 1024;

export function validateAnnotations(path: FieldPath, annotations: Record<string, unknown> | undefined): Issue[] {
  const issues: Issue[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    issues.push(...validateName(path, key, (text) => checkQualifiedName(text.toLowerCase())));
    size += key.length + String(value).length;
  }
  if (size > ANNOTATION_BYTES) issues.push(tooLong(path, ANNOTATION_BYTES));
  return issues;
}
