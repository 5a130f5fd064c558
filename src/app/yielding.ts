import { setMaxListeners } from 'node:events';
import { OWN_KINDS, REPLACES_BUILT_IN } from '../api/crds/index.ts';
import type { CustomResourceDefinition } from '../api/generated/apiextensions-v1.ts';
import { builtinType } from '../api/registry.ts';
import { qualifiedResource, type ResourceType } from '../api/resource.ts';
import type { Controller, ControllerContext, RunningController } from '../machinery/runtime/index.ts';

const definitionType = builtinType('CustomResourceDefinition', 'apiextensions.k8s.io');

/** Other software may bring the kind too, in versions of its own. */
export const mayBeReplaced = (type: ResourceType): boolean =>
  OWN_KINDS.some((own) => own.yields !== undefined && qualifiedResource(own.type) === qualifiedResource(type));

/**
 * A controller of a kind that other software brings too. While that software's definition is served, the controller stays
 * away: two that keep the same objects would undo each other's work. It comes back when the definition has gone.
 */
export function yielding(type: ResourceType, controller: Controller): Controller {
  const { name } = controller;
  const definition = qualifiedResource(type);
  const yields = OWN_KINDS.find((own) => qualifiedResource(own.type) === definition)?.yields ?? '';
  return {
    name,
    start(context) {
      const { log } = context;
      const definitions = context.informers.of(definitionType as ResourceType<CustomResourceDefinition>);
      const events = context.eventsFor(name);
      let running: Stoppable | undefined;
      let isAway = false;
      const stayAway = (theirs: CustomResourceDefinition): void => {
        isAway = true;
        running?.stop();
        running = undefined;
        const message = `the definition is served in the place of Quorate's own ${type.kind}: Quorate ${yields}`;
        log.warn({ controller: name, definition }, message);
        events.record(theirs, 'Normal', REPLACES_BUILT_IN, `Quorate ${yields}, as long as this definition is there`);
      };
      const work = (): void => {
        if (isAway) log.info({ controller: name, definition }, 'the definition has gone: Quorate keeps the kind again');
        isAway = false;
        running = startStoppable(controller, context);
      };
      const look = (): void => {
        if (!definitions.synced) return;
        const theirs = definitions.get({ name: definition });
        if (theirs !== undefined && isEstablished(theirs)) {
          if (!isAway) stayAway(theirs);
        } else if (running === undefined) work();
      };
      definitions.addHandler({ added: look, updated: look, deleted: look });
      void definitions.whenSynced().then(look);
      return {
        name,
        get queues() {
          return running?.queues ?? [];
        },
      };
    },
  };
}

interface Stoppable extends Pick<RunningController, 'queues'> {
  stop(): void;
}

function startStoppable(controller: Controller, context: ControllerContext): Stoppable {
  const life = new AbortController();
  const signal = AbortSignal.any([context.signal, life.signal]);
  // Every queue and watch listens for the end.
  setMaxListeners(0, signal);
  const { queues } = controller.start({ ...context, signal });
  return { queues, stop: () => life.abort(new Error(`${controller.name} stays away`)) };
}

function isEstablished({ status }: CustomResourceDefinition): boolean {
  return status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True') ?? false;
}
