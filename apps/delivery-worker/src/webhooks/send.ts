/** Makes one attempt to send a message, and returns the message with the result. */
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
