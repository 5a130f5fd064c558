import { X509Certificate } from 'node:crypto';
import type { Metrics } from '../../machinery/runtime/index.ts';
import type { ServingCertificate } from './certificates.ts';

export function countCertificates(metrics: Metrics, current: () => ServingCertificate): void {
  const until = (pem: string): number => Date.parse(new X509Certificate(pem).validTo) / 1000;
  metrics.countedGauge('quorate_certificate_expiry_timestamp_seconds', () => [
    [{ certificate: 'serving' }, until(current().pair.certificate)],
    [{ certificate: 'authority' }, until(current().authority)],
  ]);
}
