/** Creates the function that calls forges, over connections restricted like those of webhooks. */
import { type SendForgeRequest, ForgeRefusal } from '@muster/forges';
import { ForbiddenAddress, type Sender } from '@muster/outbound/sender';

export const createAskForge =
  (sender: Pick<Sender, 'ask'>): SendForgeRequest =>
  async (request) => {
    try {
      return await sender.ask(request);
    } catch (error) {
      const { host } = new URL(request.url);
      // The refusal is final, because the address stays forbidden until the configuration changes.
      if (error instanceof ForbiddenAddress)
        throw new ForgeRefusal(`${host}: ${error.message}`, { quietUntil: null, isFinal: true });
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Error(`${host}: ${code ?? message}`, { cause: error });
    }
  };
