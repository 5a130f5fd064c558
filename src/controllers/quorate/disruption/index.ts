export { createDisruptionController, disruption, type DisruptionHost } from './controller.ts';
export { ledgerBook } from './ledger-book.ts';
