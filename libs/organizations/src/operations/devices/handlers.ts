import { type SecretCipher } from '@muster/outbound';
import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { createConnectChatHandler } from './connectChat.ts';
import { list } from './list.ts';
import { register } from './register.ts';
import { unregister } from './unregister.ts';

/** Creates the handlers. The cipher encrypts the URLs of chat channels. */
export const createDeviceHandlers = (seals: SecretCipher) =>
  ({
    list,
    connectChat: createConnectChatHandler(seals),
    register,
    unregister,
  }) satisfies HandlersOf<Registry['devices']>;
