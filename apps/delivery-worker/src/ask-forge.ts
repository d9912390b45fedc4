/** Calls of forges, over connections that are guarded as those of webhooks are. */
import { type AskForge, ForgeRefusal } from '@muster/forges';
import { ForbiddenAddress, type Sender } from '@muster/outbound/sender';

export const createAskForge =
  (sender: Pick<Sender, 'ask'>): AskForge =>
  async (request) => {
    try {
      return await sender.ask(request);
    } catch (error) {
      const { host } = new URL(request.url);
      // No later try is let through, unless people change something.
      if (error instanceof ForbiddenAddress)
        throw new ForgeRefusal(`${host}: ${error.message}`, { quietUntil: null, isFinal: true });
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Error(`${host}: ${code ?? message}`, { cause: error });
    }
  };
