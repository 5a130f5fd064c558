export { horizontalPodAutoscalerController } from './controller.ts';
