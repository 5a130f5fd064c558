export { claimProtectionController, volumeProtectionController } from './controller.ts';
