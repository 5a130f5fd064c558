import type { TemplateCheck } from '../../../api/apps/index.ts';
import { validatePodTemplate } from '../core/pod-validation.ts';

/** A pod template as such; which restart policies it may have is up to its kind. */
export const checkTemplate: TemplateCheck = (template, path) =>
  validatePodTemplate(template, path, { restartPolicies: ['Always', 'OnFailure', 'Never'] });
