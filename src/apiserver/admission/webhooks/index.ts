/** The two admission plugins that ask webhooks. */
import type { AdmissionPlugin } from '../../context/admission-plugin.ts';
import type { ServerContext } from '../../context/server-context.ts';
import { KindView } from '../../stored/kind-view.ts';
import { isExempt } from '../matching.ts';
import { WebhookCaller } from '../../webhook-call/call.ts';
import type { Webhook } from './invocation.ts';
import { mutate } from './mutate.ts';
import { validate } from './validate.ts';

interface Configuration {
  readonly metadata: { readonly name?: string };
  readonly webhooks?: Webhook[];
}

const GROUP = 'admissionregistration.k8s.io';

/** Webhooks of every configuration, ordered by configuration name; made anew when one changes. */
class Webhooks {
  readonly #view: KindView<Configuration>;
  #list: readonly Webhook[] | undefined;

  constructor(context: ServerContext, plural: string) {
    this.#view = new KindView(context, GROUP, plural);
    this.#view.onChange(() => {
      this.#list = undefined;
    });
  }

  get list(): readonly Webhook[] {
    this.#list ??= [...this.#view.values()]
      .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
      .flatMap(({ webhooks }) => webhooks ?? []);
    return this.#list;
  }

  stop(): void {
    this.#view.stop();
  }
}

export interface WebhookPlugins {
  readonly mutating: AdmissionPlugin;
  readonly validating: AdmissionPlugin;
  stop(): void;
}

/** `builtins` run again after a webhook changed an object, as what they filled in may have to follow. */
export function webhookPlugins(context: ServerContext, builtins: readonly AdmissionPlugin[]): WebhookPlugins {
  const mutating = new Webhooks(context, 'mutatingwebhookconfigurations');
  const validating = new Webhooks(context, 'validatingwebhookconfigurations');
  const caller = new WebhookCaller(context, context.clock);
  return {
    mutating: {
      name: 'MutatingAdmissionWebhook',
      handles: (attributes) => mutating.list.length > 0 && !isExempt(attributes),
      admit: (attributes) => mutate(context, caller, { webhooks: mutating.list, builtins }, attributes),
    },
    validating: {
      name: 'ValidatingAdmissionWebhook',
      handles: (attributes) => validating.list.length > 0 && !isExempt(attributes),
      validate: (attributes) => validate(context, caller, validating.list, attributes),
    },
    stop() {
      mutating.stop();
      validating.stop();
      caller.stop();
    },
  };
}
