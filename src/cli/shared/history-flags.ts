/** How much of the record of disruptions a process keeps. */
import { InvalidArgumentError, Option } from 'commander';
import { isQuantity, parseUnits } from '../../machinery/values/index.ts';
import { wholeNumber } from './parse.ts';

export interface HistoryBoundFlags {
  readonly historyDays: number;
  readonly historyBytes: number;
}

export const historyDaysOption = (days: number): Option =>
  new Option('--history-days <days>', 'how many days of the record of disruptions are kept')
    .argParser((text) => {
      const value = wholeNumber(text);
      if (value < 1) throw new InvalidArgumentError('It must be at least 1.');
      return value;
    })
    .default(days);

export const historyBytesOption = (size: string): Option =>
  new Option('--history-bytes <size>', 'how large that record may get; the oldest days go first')
    .argParser((text) => {
      const bytes = isQuantity(text) ? parseUnits(text) : Number.NaN;
      // One day of one writer in one namespace may take a megabyte; less could keep nothing.
      if (!(bytes >= LEAST_BYTES)) throw new InvalidArgumentError('It must be a size of at least 1Mi, such as 64Mi.');
      return bytes;
    })
    .default(parseUnits(size), size);

export const historyBounds = ({ historyBytes, historyDays }: HistoryBoundFlags) => ({
  days: historyDays,
  bytes: historyBytes,
});

const LEAST_BYTES = 1024 * 1024;
