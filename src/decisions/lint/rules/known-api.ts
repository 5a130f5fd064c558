import { splitApiVersion } from '../../../api/resource.ts';
import type { LintRule } from '../finding.ts';
import { nearest, unknownFields } from '../known-api.ts';
import { removedVersion } from '../removed-versions.ts';

const meant = (name: string | undefined): string => (name === undefined ? '' : ` (did you mean ${name}?)`);

export const unknownField: LintRule = {
  name: 'unknown-field',
  severity: 'error',
  what: 'A field that its kind does not have',
  why: 'The API drops it or refuses the object, so what it was meant to say is not said: a budget without its bound, a template without its label.',
  fix: 'Correct the name of the field, or remove it.',
  details:
    'Manifests only. Built-in kinds and the kinds of Quorate, OpenKruise budgets and LeaderWorkerSets are looked at; of ' +
    'other custom resources the fields are not known. A field that is up to two letters away from a known one is named.',
  *check({ api, objects }) {
    if (api === undefined) return;
    for (const object of objects) {
      if (removedVersion(object) !== undefined) continue;
      for (const { name, near, path } of unknownFields(object, api)) {
        yield { object, path, message: `${object.kind} has no field ${name} there${meant(near)}` };
      }
    }
  },
};

export const unknownKind: LintRule = {
  name: 'unknown-kind',
  severity: 'error',
  what: 'A kind that its API version does not have',
  why: 'It cannot be created, and no rule can look at what it was meant to be.',
  fix: 'Correct kind or apiVersion.',
  details:
    'Manifests only, and only the API versions that Kubernetes serves itself: the kinds of custom resources are not known.',
  *check({ api, objects }) {
    if (api === undefined) return;
    for (const object of objects) {
      const { apiVersion = '', kind = '' } = object;
      const { group, version } = splitApiVersion(apiVersion);
      const known = api.kindsOf(group, version);
      if (known === undefined || known.includes(kind) || removedVersion(object) !== undefined) continue;
      yield {
        object,
        path: 'kind',
        message: `there is no kind ${kind} in ${apiVersion}${meant(nearest(kind, known))}`,
      };
    }
  },
};

export const removedApiVersion: LintRule = {
  name: 'removed-api-version',
  severity: 'error',
  what: 'An API version that Kubernetes no longer serves',
  why: 'It cannot be created on a current cluster: a budget in it protects nothing.',
  fix: 'Write the version that the message names; fields may have changed with it.',
  details: 'The versions that Kubernetes has removed since 1.16, with the release that removed each.',
  *check({ objects, source }) {
    if (source === 'Cluster') return;
    for (const object of objects) {
      const removed = removedVersion(object);
      if (removed === undefined) continue;
      const message = `${object.kind} is not served in ${object.apiVersion} since Kubernetes ${removed.since}; use ${removed.use}`;
      yield { object, path: 'apiVersion', message };
    }
  },
};
