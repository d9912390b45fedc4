/** The reader's channels of Slack and Microsoft Teams, to which push notifications are sent. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ChatService, type Device } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { timeAgo } from '../messages/index.ts';
import { notificationTexts as words } from '../messages/notifications.ts';
import { texts } from '../messages/settings.ts';
import {
  Form,
  FormField,
  joinFacts,
  ListItem,
  OpenFormButton,
  QueryList,
  Section,
  SelectField,
  useSettingsWrite,
} from './components.tsx';
import { chatsQuery } from './queries.ts';
import { widestScope } from './rights.ts';

function NewChatForm({ onClose }: { readonly onClose: () => void }) {
  const { devices } = useClient();
  const { isBusy, run } = useSettingsWrite();
  const [service, setService] = useState<ChatService>('slack');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const connect = async (): Promise<boolean> => {
    const isConnected = await run(() => devices.connectChat({ service, name, url }), words.chat.connected);
    if (isConnected) onClose();
    return isConnected;
  };
  return (
    <Form submitLabel={words.chat.connect} isBusy={isBusy} onSubmit={connect} onCancel={onClose}>
      <SelectField
        label={words.chat.service}
        value={service}
        optionLabels={words.chat.services}
        onChange={setService}
      />
      <FormField name={texts.name} hint={words.chat.nameHint}>
        <input
          className="field"
          required
          maxLength={120}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </FormField>
      <FormField name={words.chat.url} hint={words.chat.urlHints[service]}>
        <input
          className="field"
          type="url"
          required
          autoComplete="off"
          spellCheck={false}
          maxLength={2_048}
          placeholder="https://"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
      </FormField>
    </Form>
  );
}

function ChatRow({ chat, mayWrite }: { readonly chat: Device; readonly mayWrite: boolean }) {
  const { devices } = useClient();
  const { run } = useSettingsWrite();
  const { deviceId, name, platform, takesPush, createdAt } = chat;
  const service = platform === 'slack' || platform === 'teams' ? words.chat.services[platform] : null;
  return (
    <ListItem
      title={name}
      details={
        <>
          {!takesPush && (
            <span className="state" data-tone="bad">
              {words.chat.failed}
            </span>
          )}
          {joinFacts(service, words.chat.since(timeAgo(createdAt)))}
        </>
      }
    >
      {mayWrite && (
        <ConfirmButton
          actionLabel={texts.remove}
          subject={name}
          title={words.chat.removeTitle(name)}
          explanation={words.chat.removeWhy}
          onConfirm={() => run(() => devices.unregister({ deviceId }))}
        />
      )}
    </ListItem>
  );
}

export function Chats() {
  const { token } = useIdentity();
  const mayWrite = widestScope(token.scopes) !== 'read';
  const [isConnecting, setConnecting] = useState(false);
  const chats = useQuery(chatsQuery(useClient()));
  return (
    <Section
      id="chats"
      title={words.chat.title}
      intro={words.chat.intro}
      headerAction={
        mayWrite &&
        !isConnecting && <OpenFormButton name={words.chat.connect} onOpen={() => setConnecting(true)} />
      }
    >
      {isConnecting && <NewChatForm onClose={() => setConnecting(false)} />}
      <QueryList query={chats} emptyTitle={words.chat.empty} emptyWhy={words.chat.emptyWhy}>
        {(chat) => <ChatRow key={chat.id} chat={chat} mayWrite={mayWrite} />}
      </QueryList>
    </Section>
  );
}
