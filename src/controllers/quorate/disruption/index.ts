export { createDisruptionController } from './controller.ts';
export { ledgerBook } from './ledger-book.ts';
