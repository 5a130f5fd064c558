export { deleteOld, exportGroups, importGroups, MigrationError, type MigrationResult, writeTwins } from './migrate.ts';
