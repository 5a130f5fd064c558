import { downscalePodPickerType } from '../quorate/downscale-pod-picker.ts';
import { defineKind, httpHeader, int32, list, object, text } from './builder.ts';

export const downscalePodPickerDefinition = defineKind({
  type: downscalePodPickerType,
  shortNames: ['picker'],
  versions: [
    {
      name: 'v1alpha1',
      stored: true,
      description: 'A service that is asked which pods of a Deployment or ReplicaSet go when it shrinks.',
      spec: object(
        {
          targetRef: object(
            {
              apiVersion: text('API version of the workload: apps/v1.', { default: 'apps/v1' as never }),
              kind: text('Deployment or ReplicaSet.'),
              name: text('Name of the workload, in the namespace of the picker.'),
            },
            { description: 'The workload the picker speaks for.', required: ['kind', 'name'] },
          ),
          maxRetries: int32('How often a failed call is tried again, 0 to 10.', { default: 3 as never }),
          timeoutSeconds: int32('Time for everything: name lookup, retries, reading the answer; 1 to 30.', {
            default: 1 as never,
          }),
          http: object(
            {
              host: text('Host name or address.'),
              port: {
                anyOf: [{ type: 'integer' }, { type: 'string' }],
                'x-kubernetes-int-or-string': true,
                description: 'Port number.',
              },
              path: text('Path of the request.', { default: '/' as never }),
              scheme: text('HTTP or HTTPS.', { default: 'HTTP' as never }),
              httpHeaders: list(httpHeader('picker'), 'Headers of the request.'),
            },
            { description: 'How the service is asked.', required: ['host', 'port'] },
          ),
        },
        { required: ['targetRef', 'http'] },
      ),
      columns: [
        { name: 'Kind', type: 'string', jsonPath: '.spec.targetRef.kind' },
        { name: 'Target', type: 'string', jsonPath: '.spec.targetRef.name' },
        { name: 'Host', type: 'string', jsonPath: '.spec.http.host' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    },
  ],
});
