/** What a replica's readiness is made of: what is true now, not what once was. */
import { X509Certificate } from 'node:crypto';
import type { Clock, InformerSet, Transport } from '../../machinery/runtime/index.ts';
import type { ProbeCheck } from '../../webhook/index.ts';
import type { ServingCertificate } from './certificates.ts';

/** The election asks every two seconds, so that an API server which is there answers more often than this. */
const ANSWER_MS = 15_000;
const CERTIFICATE_MS = 3_600_000;
/** Three times as long as the leader lets pass before it looks at every budget. */
const RESYNC_MS = 180_000;

export interface ApiAnswers {
  readonly transport: Transport;
  /** How long the API server has not answered anything. */
  silentMs(): number;
}

/** Listens for answers of the API server; errors of its own are none. */
export function listenForAnswers(transport: Transport, clock: Clock): ApiAnswers {
  let answeredMs = clock.elapsed();
  return {
    async transport(request) {
      const response = await transport(request);
      if (response.status < 500) answeredMs = clock.elapsed();
      return response;
    },
    silentMs: () => clock.elapsed() - answeredMs,
  };
}

/** Copies that are filled and follow the API server; undefined: nothing is followed yet, and need not be. */
export function cachesCheck(informers: () => InformerSet | undefined): ProbeCheck {
  return {
    name: 'caches',
    needed: true,
    problem() {
      const wrong = informers()?.problems() ?? [];
      return wrong.length === 0 ? undefined : wrong.join('; ');
    },
  };
}

export function answersCheck(answers: ApiAnswers): ProbeCheck {
  return {
    name: 'api-server',
    problem() {
      const silentMs = answers.silentMs();
      return silentMs <= ANSWER_MS ? undefined : `it has not answered for ${Math.round(silentMs / 1000)} s`;
    },
  };
}

export function stoppingCheck(isStopping: () => boolean): ProbeCheck {
  return { name: 'not-stopping', problem: () => (isStopping() ? 'this replica is being stopped' : undefined) };
}

export interface HealthSources {
  readonly clock: Clock;
  readonly informers: InformerSet;
  readonly answers: ApiAnswers;
  readonly certificate: () => ServingCertificate;
  /** Why what is served is not what is stored; undefined where it is. */
  readonly notStored: () => string | undefined;
  /** See `watchForPauses`. */
  readonly pauses: ProbeCheck;
  /** What is wrong with what the API server knows about us; undefined where nothing is. */
  readonly registration: () => string | undefined;
  /** On the leader: which configurations are not as they should be. */
  readonly configurations: () => string | undefined;
  /** On the leader: how long ago it looked at every budget; undefined elsewhere. */
  readonly resyncAgeMs: () => number | undefined;
  /** Why what is wrong with the leader alone does not make it unready. */
  readonly alone: () => string | undefined;
  readonly isStopping: () => boolean;
}

export function operatorChecks(sources: HealthSources): ProbeCheck[] {
  const { alone, answers, certificate, clock, configurations, informers, notStored, pauses, registration } = sources;
  return [
    cachesCheck(() => informers),
    answersCheck(answers),
    {
      name: 'certificate',
      problem() {
        const { validTo } = new X509Certificate(certificate().pair.certificate);
        return Date.parse(validTo) - clock.now() > CERTIFICATE_MS ? notStored() : `it ends at ${validTo}`;
      },
    },
    pauses,
    { name: 'registration', problem: registration },
    { name: 'configurations', problem: configurations, excuse: alone },
    { name: 'resync', problem: () => resyncProblem(sources.resyncAgeMs()), excuse: alone },
    stoppingCheck(sources.isStopping),
  ];
}

function resyncProblem(ageMs: number | undefined): string | undefined {
  if (ageMs === undefined || ageMs < RESYNC_MS) return undefined;
  return `the budgets were last looked at ${Math.round(ageMs / 1000)} s ago, which is done every minute`;
}
