import { fromLabelSelector, type LabelSelectorShape, nothing, type Selector } from '../../../machinery/values/index.ts';

const parsed = new WeakMap<object, Selector>();

/**
 * The parsed form of a selector in a cached object, parsed once per object. One that cannot be parsed selects nothing.
 */
export function cachedSelector(shape: LabelSelectorShape | undefined): Selector {
  if (shape === undefined) return nothing;
  let selector = parsed.get(shape);
  if (selector === undefined) {
    try {
      selector = fromLabelSelector(shape);
    } catch {
      selector = nothing;
    }
    parsed.set(shape, selector);
  }
  return selector;
}
