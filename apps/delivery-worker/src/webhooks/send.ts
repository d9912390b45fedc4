/** Makes one attempt to send a message, and returns the message with the result. */
import { type ReadyMessage, type SentMessage } from '@muster/notifications';
import { type Sender } from '@muster/outbound/sender';
import { sendWebhook, type WebhookEndpoint } from '@muster/outbound/webhook';

export const attemptMessage = async (
  sender: Sender,
  endpoint: WebhookEndpoint,
  message: ReadyMessage,
): Promise<SentMessage> => {
  const { tried: attempt, ...answer } = await sendWebhook(sender, endpoint, {
    id: message.eventId,
    body: message.body,
  });
  return { message, attempt, ...answer };
};
