import { defaultPriorityLevels, MANDATORY } from '../../../api/flow-control.ts';
import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../../api/generated/flowcontrol-v1.ts';
import {
  FieldPath,
  forbidden,
  invalid,
  type Issue,
  notSupported,
  required,
  semanticEqual,
} from '../../../machinery/values/index.ts';
import { ageColumn, nameColumn, NONE, table, text } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

const MOST_QUEUES = 10_000_000;
/** Bits of the number by which hands of queues are dealt. */
const HASH_BITS = 60;

const orNothing = (value: number | undefined): string => (value === undefined ? NONE : String(value));
const queuingOf = ({ spec }: PriorityLevelConfiguration): QueuingConfiguration | undefined =>
  spec?.limited?.limitResponse?.queuing;

export const priorityLevelStrategy = strategyOf<PriorityLevelConfiguration>({
  defaults({ spec }) {
    const { exempt, limited } = spec ?? {};
    if (exempt !== undefined) {
      exempt.nominalConcurrencyShares ??= 0;
      exempt.lendablePercent ??= 0;
    }
    if (limited === undefined) return;
    limited.nominalConcurrencyShares ??= 30;
    limited.lendablePercent ??= 0;
    const queuing = limited.limitResponse?.queuing;
    if (queuing === undefined) return;
    queuing.handSize ||= 8;
    queuing.queues ||= 64;
    queuing.queueLengthLimit ||= 50;
  },
  validate,
  validateUpdate: (object) => validate(object),
  generation: 'spec',
  table: table([
    nameColumn,
    text('Type', 'Whether its requests are limited', ({ spec }) => spec?.type ?? ''),
    text('NominalConcurrencyShares', 'Its part of the server', ({ spec }) =>
      orNothing(spec?.limited?.nominalConcurrencyShares),
    ),
    text('Queues', 'Queues of requests that wait', (level) => orNothing(queuingOf(level)?.queues)),
    text('HandSize', 'Queues that one flow may wait in', (level) => orNothing(queuingOf(level)?.handSize)),
    text('QueueLengthLimit', 'Requests that one queue holds', (level) => orNothing(queuingOf(level)?.queueLengthLimit)),
    ageColumn,
  ]),
});

function validate({ metadata, spec }: PriorityLevelConfiguration): Issue[] {
  const { name = '' } = metadata;
  const path = FieldPath.of('spec');
  const { exempt, limited, type = '' } = spec ?? {};
  const issues: Issue[] = [];
  if ((name === 'exempt') !== (type === 'Exempt')) {
    issues.push(invalid(path.child('type'), type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type === 'Exempt') {
    if (limited !== undefined) {
      issues.push(forbidden(path.child('limited'), 'must be nil if the type is not Limited'));
    }
    issues.push(...validateShares(exempt ?? {}, path.child('exempt')));
  } else if (type === 'Limited') {
    if (exempt !== undefined) issues.push(forbidden(path.child('exempt'), 'must be nil if the type is Limited'));
    if (limited === undefined) {
      issues.push(required(path.child('limited'), 'must not be empty when type is Limited'));
    } else issues.push(...validateLimited(limited, path.child('limited')));
  } else if (type === '') issues.push(required(path.child('type')));
  else issues.push(notSupported(path.child('type'), type, ['Exempt', 'Limited']));
  return [...issues, ...validateMandatory(name, spec, path)];
}

function validateMandatory(name: string, spec: PriorityLevelConfigurationSpec | undefined, path: FieldPath): Issue[] {
  if (!MANDATORY.has(name)) return [];
  const fixed = defaultPriorityLevels.find((one) => one.metadata.name === name)?.spec;
  const isExempt = name === 'exempt';
  // How much the exempt level lends may be changed, and nothing else of it.
  const have = isExempt ? { ...spec, exempt: fixed?.exempt } : spec;
  if (semanticEqual(fixed, have)) return [];
  const except = isExempt ? " except the 'spec.exempt' field" : '';
  return [invalid(path, spec, `spec of '${name}'${except} must equal the fixed value`)];
}

type SharesOf = Pick<LimitedPriorityLevelConfiguration, 'lendablePercent' | 'nominalConcurrencyShares'>;

function validateShares({ lendablePercent = 0, nominalConcurrencyShares = 0 }: SharesOf, path: FieldPath): Issue[] {
  const issues: Issue[] = [];
  if (nominalConcurrencyShares < 0) {
    const field = path.child('nominalConcurrencyShares');
    issues.push(invalid(field, nominalConcurrencyShares, 'must be a non-negative integer'));
  }
  if (lendablePercent < 0 || lendablePercent > 100) {
    issues.push(invalid(path.child('lendablePercent'), lendablePercent, 'must be between 0 and 100, inclusive'));
  }
  return issues;
}

function validateLimited(limited: LimitedPriorityLevelConfiguration, path: FieldPath): Issue[] {
  const { borrowingLimitPercent = 0, limitResponse } = limited;
  const issues = validateShares(limited, path);
  issues.push(...validateResponse(limitResponse, path.child('limitResponse')));
  if (borrowingLimitPercent < 0) {
    const field = path.child('borrowingLimitPercent');
    issues.push(invalid(field, borrowingLimitPercent, 'if specified, must be a non-negative integer'));
  }
  return issues;
}

function validateResponse(response: LimitResponse | undefined, path: FieldPath): Issue[] {
  const { queuing, type = '' } = response ?? {};
  const field = path.child('queuing');
  if (type === '') return [required(path.child('type'))];
  if (type === 'Reject') {
    return queuing === undefined ? [] : [forbidden(field, 'must be nil if limited.limitResponse.type is not Limited')];
  }
  if (type !== 'Queue') return [notSupported(path.child('type'), type, ['Queue', 'Reject'])];
  if (queuing === undefined) return [required(field, 'must not be empty if limited.limitResponse.type is Limited')];
  return validateQueuing(queuing, field);
}

function validateQueuing({ handSize = 0, queueLengthLimit = 0, queues = 0 }: QueuingConfiguration, path: FieldPath) {
  const issues: Issue[] = [];
  if (queueLengthLimit <= 0) issues.push(invalid(path.child('queueLengthLimit'), queueLengthLimit, 'must be positive'));
  if (queues <= 0) issues.push(invalid(path.child('queues'), queues, 'must be positive'));
  else if (queues > MOST_QUEUES) {
    issues.push(invalid(path.child('queues'), queues, `must not be greater than ${MOST_QUEUES}`));
  }
  const hand = (why: string) => invalid(path.child('handSize'), handSize, why);
  const bits = entropyBits(queues, handSize);
  if (handSize <= 0) issues.push(hand('must be positive'));
  else if (handSize > queues) issues.push(hand(`should not be greater than queues (${queues})`));
  else if (bits > HASH_BITS) {
    const deck = `deckSize ${queues} and handSize ${handSize}`;
    issues.push(hand(`required entropy bits of ${deck} should not be greater than ${HASH_BITS}`));
  }
  return issues;
}

/** How many bits it takes to deal a hand. */
const entropyBits = (deck: number, hand: number): number => Math.ceil(Math.log2(deck) * hand);
