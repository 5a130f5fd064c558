import { MEMBER_STATES, NOTICE_STATES } from '../quorate/notice.ts';
import { NOTICE_ENUMS } from '../quorate/notice-validation.ts';
import { choice, type CrdSchema, flag, httpHeader, int32, intOrPercent, list, object, text, time } from './builder.ts';

const http = object(
  {
    scheme: choice('HTTPS or HTTP.', NOTICE_ENUMS.scheme),
    host: text('Host name or address; not where each member is called.'),
    port: { ...intOrPercent('Port number.') },
    path: text('Path of the request.', { default: '/' as never }),
    to: choice('One call for the group, or one to the address of each member.', NOTICE_ENUMS.to),
    timeoutSeconds: int32('Time for one call, 1 to 30.', { default: 5 as never }),
    pollSeconds: int32('How soon a group that is still at work is asked again, 2 to 60.', { default: 5 as never }),
    serverName: text('The name in the certificate; needed to call members by HTTPS.'),
    httpHeaders: list(httpHeader('policy'), 'Headers of the request.'),
  },
  { description: 'How it is called.', required: ['port'] },
);

export const noticeTerms = (description: string): CrdSchema =>
  object(
    {
      duration: text('How long the group has, 1s to 24h.'),
      channels: list(
        object(
          {
            type: text('How members are told: by their pods, by a call, or by EvictionRequests.', {
              enum: [...NOTICE_ENUMS.type] as never,
            }),
            http,
          },
          { required: ['type'] },
        ),
        'None: by their pods.',
        { maxItems: 4 },
      ),
      acknowledgement: object(
        {
          from: choice('Whose word ends the notice before its time.', NOTICE_ENUMS.from),
          responder: text('The key of the responder that speaks for the group.'),
        },
        { description: 'What counts as done.' },
      ),
      onUndelivered: choice('What happens when nobody could be told.', NOTICE_ENUMS.onUndelivered),
    },
    { description, required: ['duration'] },
  );

/** What a GroupEviction says of the notice that its group was given. */
export const groupNotice = object(
  {
    id: text('What acknowledgements name it by.'),
    group: text('The group, as KIND/NAME.'),
    policy: text('The DisruptionPolicy that wants it.'),
    startedAt: text('When it started, with microseconds.'),
    deadline: text('When the group goes at the latest, with microseconds.'),
    state: text('How far it is.', { enum: [...NOTICE_STATES] as never }),
    members: list(
      object(
        {
          name: text('The pod.'),
          uid: text('Its UID.'),
          state: text('Whether it was told, and has acknowledged.', { enum: [...MEMBER_STATES] as never }),
          at: time('Since when.'),
          via: text('By which channel it was told, or acknowledged.'),
          message: text('What it said.'),
        },
        { required: ['name', 'uid', 'state'] },
      ),
      'The members of the group.',
    ),
    requesters: list(
      object({ name: text('A GroupEviction.'), withdrawn: flag('It wants that no more.') }, { required: ['name'] }),
      'Who wants the group gone.',
    ),
    terms: noticeTerms('The terms it started with.'),
    heldSince: time('Since when budgets do not let the group go.'),
  },
  { description: 'How the group was told.', required: ['id', 'state', 'startedAt', 'deadline', 'terms'] },
);
