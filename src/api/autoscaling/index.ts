export { defaultHorizontalPodAutoscaler, effectiveRules } from './defaults.ts';
export { validateHorizontalPodAutoscaler } from './validation.ts';
