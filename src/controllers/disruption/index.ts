export { type BudgetBook, ownStatusBook } from './book.ts';
export { createDisruptionController, type DisruptionOptions } from './controller.ts';
export { ledgerBook, type LedgerBookOptions } from './ledger-book.ts';
