/**
 * What is measured of every request. Each request passes here, so that the series of a resource are found by its
 * identity and by numbers, never by a text made of labels; the labels come into it when somebody reads the numbers.
 */
import { type BucketTally, type Clock, emptyTally } from '../../machinery/runtime/index.ts';
import type { ApiResponse } from '../exchange/exchange.ts';
import type { FoundResource } from '../registry/registry.ts';
import type { ResourceRequest } from '../request/info.ts';
import { InFlight } from './in-flight.ts';
import { reportedVerb, SCOPES, scopeOf, VERBS } from './labels.ts';

/** One request on its way. Filled in as it becomes known what it is; what stays unknown is not counted, as in Kubernetes. */
export class RequestTiming {
  readonly startedMs: number;
  readonly method: string;
  /** Time that webhooks took of it. */
  webhookMs = 0;
  found: FoundResource | undefined;
  info: ResourceRequest | undefined;
  search = '';
  isApply = false;
  dryRun = false;
  /** Of what is no resource, by its name in the metrics. */
  plain: string | undefined;

  constructor(startedMs: number, method: string) {
    this.startedMs = startedMs;
    this.method = method;
  }

  /** There is such a route, and the user may take it. */
  routed(found: FoundResource, info: ResourceRequest, search: string): void {
    this.found = found;
    this.info = info;
    this.search = search;
  }
}

/** Labels of a resource's series. */
export interface RequestLabels {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
  readonly component: string;
}

export class RequestSeries {
  readonly labels: RequestLabels;
  readonly dryRun: string;
  readonly codes = new Map<number, number>();
  readonly durations: BucketTally = emptyTally('apiserver_request_duration_seconds');
  readonly levels: BucketTally | undefined;
  readonly sizes: BucketTally | undefined;
  /** Requests of this series that last and are not over. */
  open = 0;

  constructor(labels: RequestLabels, dryRun: string) {
    this.labels = labels;
    this.dryRun = dryRun;
    this.levels = dryRun === '' ? emptyTally('apiserver_request_sli_duration_seconds') : undefined;
    const reads = labels.verb === 'GET' || labels.verb === 'LIST';
    this.sizes = reads ? emptyTally('apiserver_response_sizes') : undefined;
  }
}

/** Events that went to the watchers of a resource. */
export interface WatchTally {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  events: number;
  watchers: number;
}

export interface DeprecatedRequest {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly removed_release: string;
}

interface ResourceSeries {
  /** By verb, scope and dry run; see `slotOf`. */
  readonly own: (RequestSeries | undefined)[];
  readonly subresources: Map<string, (RequestSeries | undefined)[]>;
  readonly watch: WatchTally;
  readonly deprecated: Map<string, string>;
}

export class RequestMeter {
  readonly inFlight: InFlight;
  readonly #clock: Clock;
  /** A definition that is replaced goes on with the series of the one before. */
  readonly #byPath = new Map<string, ResourceSeries>();
  readonly #byFound = new WeakMap<FoundResource, ResourceSeries>();
  readonly #plain = new Map<string, RequestSeries>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.inFlight = new InFlight(clock);
  }

  begin(method: string): RequestTiming {
    const timing = new RequestTiming(this.#clock.elapsed(), method);
    this.inFlight.enter(method, timing.startedMs);
    return timing;
  }

  /** The answer is there. One that lasts counts when it is over. */
  end(timing: RequestTiming, { body, status }: ApiResponse): ApiResponse['body'] {
    this.inFlight.leave(timing.method);
    const series = this.#seriesOf(timing);
    if (series === undefined) return body;
    if (typeof body !== 'function') {
      series.sizes?.observe(sizeOf(body));
      this.#count(series, timing, status);
      return body;
    }
    return (sink) => {
      const stop = body(sink);
      const watch = timing.found && this.watchTally(timing.found);
      series.open += 1;
      if (watch !== undefined) watch.watchers += 1;
      let isOver = false;
      return () => {
        stop();
        if (isOver) return;
        isOver = true;
        series.open -= 1;
        if (watch !== undefined) watch.watchers -= 1;
        this.#count(series, timing, status);
      };
    };
  }

  watchTally(found: FoundResource): WatchTally {
    return this.#resource(found).watch;
  }

  *series(): Iterable<RequestSeries> {
    yield* this.#plain.values();
    for (const { own, subresources } of this.#byPath.values()) {
      for (const list of [own, ...subresources.values()]) {
        for (const series of list) if (series !== undefined) yield series;
      }
    }
  }

  *watches(): Iterable<WatchTally> {
    for (const { watch } of this.#byPath.values()) yield watch;
  }

  /** What was asked for and is deprecated: the subresources, '' for the resource itself. */
  *deprecated(): Iterable<DeprecatedRequest> {
    for (const { deprecated, watch } of this.#byPath.values()) {
      const { group, resource, version } = watch;
      for (const [subresource, removed_release] of deprecated) {
        yield { group, version, resource, subresource, removed_release };
      }
    }
  }

  #count(series: RequestSeries, { startedMs, webhookMs }: RequestTiming, status: number): void {
    const tookMs = this.#clock.elapsed() - startedMs;
    series.codes.set(status, (series.codes.get(status) ?? 0) + 1);
    series.durations.observe(tookMs / 1000);
    series.levels?.observe((tookMs - webhookMs) / 1000);
  }

  #seriesOf(timing: RequestTiming): RequestSeries | undefined {
    const { found, info } = timing;
    if (found === undefined || info === undefined)
      return timing.plain === undefined ? undefined : this.#plainSeries(timing);
    const resource = this.#resource(found);
    const { subresource } = info;
    let list = resource.own;
    if (subresource !== undefined) {
      list = resource.subresources.get(subresource) ?? [];
      if (list.length === 0) resource.subresources.set(subresource, list);
    }
    const { deprecationWarning, removedRelease = '' } = found.version;
    if (deprecationWarning !== undefined) resource.deprecated.set(subresource ?? '', removedRelease);
    const verb = reportedVerb(info, timing);
    const scope = scopeOf(info, timing.search);
    const slot = (verb * SCOPES.length + scope) * 2 + (timing.dryRun ? 1 : 0);
    let series = list[slot];
    if (series === undefined) {
      const { group, resource: plural, version } = resource.watch;
      const labels = { group, version, resource: plural, subresource: subresource ?? '', component: 'apiserver' };
      const named = { ...labels, verb: VERBS[verb] as string, scope: SCOPES[scope] as string };
      list[slot] = series = new RequestSeries(named, timing.dryRun ? 'All' : '');
    }
    return series;
  }

  #plainSeries({ method, plain = '' }: RequestTiming): RequestSeries {
    const verb = (VERBS as readonly string[]).includes(method) ? method : 'other';
    const key = `${verb} ${plain}`;
    let series = this.#plain.get(key);
    if (series === undefined) {
      const labels = { verb, group: '', version: '', resource: '', subresource: plain, scope: '', component: '' };
      this.#plain.set(key, (series = new RequestSeries(labels, '')));
    }
    return series;
  }

  #resource(found: FoundResource): ResourceSeries {
    let known = this.#byFound.get(found);
    if (known !== undefined) return known;
    const { resource, version } = found;
    const path = `${resource.group}/${version.name}/${resource.plural}`;
    known = this.#byPath.get(path);
    if (known === undefined) {
      const { group, kind, plural } = resource;
      const watch = { group, version: version.name, resource: plural, kind, events: 0, watchers: 0 };
      this.#byPath.set(path, (known = { own: [], subresources: new Map(), watch, deprecated: new Map() }));
    }
    this.#byFound.set(found, known);
    return known;
  }
}

function sizeOf(body: Uint8Array | readonly Uint8Array[]): number {
  if (body instanceof Uint8Array) return body.length;
  let size = 0;
  for (const chunk of body) size += chunk.length;
  return size;
}
