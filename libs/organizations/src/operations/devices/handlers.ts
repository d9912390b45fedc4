import { type SecretCipher } from '@muster/outbound';
import { createSlackTokens, type SlackTokens } from '@muster/outbound/slack';
import { type OrganizationsRegistry } from '@muster/organizations-registry';
import { type HandlersOf } from '@muster/runtime';
import { createConnectChatHandler } from './connectChat.ts';
import { createConnectSlackAccountHandler } from './connectSlackAccount.ts';
import { list } from './list.ts';
import { register } from './register.ts';
import { unregister } from './unregister.ts';

/** Creates the handlers. The cipher encrypts the URLs of chat channels. */
export const createDeviceHandlers = (seals: SecretCipher, slackTokens: SlackTokens = createSlackTokens([])) =>
  ({
    list,
    connectChat: createConnectChatHandler(seals),
    connectSlackAccount: createConnectSlackAccountHandler(slackTokens),
    register,
    unregister,
  }) satisfies HandlersOf<OrganizationsRegistry['devices']>;
