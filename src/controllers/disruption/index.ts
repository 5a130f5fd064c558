export { type BudgetBook, ownStatusBook } from './book.ts';
export { createDisruptionController, type DisruptionOptions } from './controller.ts';
export { ledgerBook, type LedgerBookOptions, type Ledgers } from './ledger-book.ts';
