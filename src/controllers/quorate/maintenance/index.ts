export { createMaintenanceController, maintenance } from './controller.ts';
