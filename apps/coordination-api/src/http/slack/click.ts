/** Parses requests of Slack's interactivity. Slack describes them as `block_actions` payloads. */
import { slackAnswerAction } from '@muster/outbound/chat';
import { SlackId } from '@muster/outbound/slack';
import { malformedRequest, parseUntrustedJson } from '@muster/contract';
import { z } from 'zod';

/** A click in Slack on a button that answers a question with one of its options. */
export interface SlackClick {
  readonly teamId: string;
  readonly userId: string;
  /** Empty if the name contains unusual characters. */
  readonly userName: string;
  /** Slack gives each click an id. */
  readonly triggerId: string;
  readonly responseUrl: string;
  /** The value of the button, which Muster signed. */
  readonly value: string;
}

const BlockActions = z.object({
  type: z.literal('block_actions'),
  user: z.object({
    id: SlackId,
    team_id: SlackId.nullish(),
    username: z
      .string()
      .regex(/^[\p{L}\p{N}._ -]{1,80}$/u)
      .catch(''),
  }),
  team: z.object({ id: SlackId }).nullish(),
  trigger_id: z.string().min(1).max(200),
  response_url: z.string().min(1).max(500),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().max(2_000).optional() })).length(1),
});

const utf8Decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses the body of a request. Returns undefined for interactions that need no work, such as a click on a link. Throws
 * 400 for a malformed body.
 */
export function parseSlackClick(body: Buffer): SlackClick | undefined {
  let payload: unknown;
  try {
    payload = parseUntrustedJson(new URLSearchParams(utf8Decoder.decode(body)).get('payload') ?? '');
  } catch {
    throw malformedRequest('invalid_json', 'The field payload must be a JSON object in UTF-8.');
  }
  const { success, data } = BlockActions.safeParse(payload);
  const [action] = data?.actions ?? [];
  const isAnswer = action?.action_id.startsWith(slackAnswerAction) ?? false;
  if (!success || action?.value === undefined || !isAnswer) return undefined;
  const { user, team } = data;
  const teamId = user.team_id ?? team?.id;
  if (teamId === undefined) return undefined;
  return {
    ...{
      teamId,
      userId: user.id,
      userName: user.username === '' ? user.id : user.username,
      value: action.value,
    },
    ...{ triggerId: data.trigger_id, responseUrl: data.response_url },
  };
}
