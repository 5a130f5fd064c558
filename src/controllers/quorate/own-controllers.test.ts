import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FeatureGates } from '../../machinery/runtime/index.ts';
import { controllerRights, ownControllers } from './index.ts';
import type { HostName } from './own-controller.ts';

const named = (host: HostName, gates = new FeatureGates(), serves = (): boolean => true): string[] =>
  ownControllers(host, { gates, serves, groupMaking: { maker: undefined, lookup: { served: [] } } as never }).map(
    ({ name }) => name,
  );

describe('our own controllers', () => {
  it('are each a folder, and each folder is in the table', () => {
    const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const all = FeatureGates.parse('PublishGroupCost=true');
    const running = new Set([...named('embedded', all), ...named('operator', all)]);
    expect([...running].sort()).toEqual(folders.map(({ name }) => name).sort());
  });

  it('run where they say', () => {
    expect(named('embedded')).not.toContain('group-making');
    expect(named('operator')).not.toContain('pod-group');
    for (const host of ['embedded', 'operator'] as const) expect(named(host)).toContain('maintenance');
  });

  it('are switched off by their gate, on the host that it is for', () => {
    const gates = FeatureGates.parse('Maintenance=false,PodDisruptionBudget=false');
    expect(named('embedded', gates)).not.toContain('maintenance');
    expect(named('embedded', gates)).not.toContain('disruption');
    expect(named('operator', gates)).not.toContain('maintenance');
    expect(named('operator', gates)).toContain('disruption');
  });

  it('are not started for a kind that is not served, which is told', () => {
    const missing: string[] = [];
    const host = { gates: new FeatureGates(), serves: () => false };
    const names = ownControllers('operator', host, ({ kind }) => missing.push(kind)).map(({ name }) => name);
    expect(missing).toEqual(expect.arrayContaining(['GroupEviction', 'Maintenance']));
    expect(names).toEqual(expect.arrayContaining(['disruption', 'pod-unavailable-budget', 'downscale-pick']));
    for (const name of ['group-eviction', 'maintenance']) expect(names).not.toContain(name);
  });

  it('declare rights beside what they do', () => {
    expect(controllerRights('maintenances')).toContainEqual({
      apiGroups: [''],
      resources: ['pods/eviction'],
      verbs: ['create'],
    });
  });

  it('HL-07: name what another feature makes only where that is on', () => {
    const named = (isOn: boolean) =>
      controllerRights('maintenances', () => isOn).flatMap(({ resources = [] }) => resources);
    expect(named(true)).toContain('groupevictions');
    expect(named(false)).not.toContain('groupevictions');
  });
});
