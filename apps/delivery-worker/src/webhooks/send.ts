/** One try of a message: what came back, beside the message that it is settled by. */
import { type ReadyMessage, type SentMessage } from '@muster/notifications';
import { type Sender } from '@muster/outbound/sender';
import { sendWebhook, type WebhookEndpoint } from '@muster/outbound/webhook';

export const send = async (
  sender: Sender,
  endpoint: WebhookEndpoint,
  message: ReadyMessage,
): Promise<SentMessage> => ({
  message,
  ...(await sendWebhook(sender, endpoint, { id: message.eventId, body: message.body })),
});
