/** The reader's own passkeys. A passkey is created on the sign-in page, in the browser that will use it. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Passkey } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useFocusBack } from '../components/focus.ts';
import { useAskBeforeLeaving } from '../components/leaving.ts';
import { ago, t } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { facts, Item, Listed, Section, useWrite } from './components.tsx';
import { passkeysQuery } from './queries.ts';

function One({ passkey }: { readonly passkey: Passkey }) {
  const { passkeys } = useClient();
  const { isBusy, run } = useWrite();
  const { id: passkeyId, name, synced, createdAt, lastUsedAt } = passkey;
  const [typed, setTyped] = useState<string | null>(null);
  const opener = useFocusBack(typed !== null);
  const askFirst = useAskBeforeLeaving(typed !== null && typed !== name);
  const rename = async (): Promise<void> => {
    if (typed === null) return;
    if (typed === name || (await run(() => passkeys.rename({ passkeyId, name: typed })))) setTyped(null);
  };
  if (typed !== null)
    return (
      <li className="row set-row">
        <form
          className="form-line grow"
          onSubmit={(event) => {
            event.preventDefault();
            void rename();
          }}
        >
          <input
            className="field grow"
            required
            autoFocus
            maxLength={120}
            aria-label={`${s.name}: ${name}`}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
          <button type="submit" className="button" data-kind="main" disabled={isBusy}>
            {s.save}
          </button>
          <button type="button" className="button" onClick={() => askFirst(() => setTyped(null))}>
            {t.cancel}
          </button>
        </form>
      </li>
    );
  return (
    <Item
      title={name}
      fact={facts(
        synced ? s.passkeys.synced : s.passkeys.bound,
        s.passkeys.made(ago(createdAt)),
        lastUsedAt === null ? s.tokens.unused : s.tokens.used(ago(lastUsedAt)),
      )}
    >
      <button ref={opener} type="button" className="button" data-kind="quiet" onClick={() => setTyped(name)}>
        {s.passkeys.rename}
        <span className="sr-only"> {name}</span>
      </button>
      <Ask
        act={s.remove}
        about={name}
        title={s.passkeys.removeTitle(name)}
        why={s.passkeys.removeWhy}
        run={() => run(() => passkeys.delete({ passkeyId }))}
      />
    </Item>
  );
}

export function Passkeys() {
  const passkeys = useQuery(passkeysQuery(useClient()));
  return (
    <Section
      id="passkeys"
      title={s.sections.passkeys}
      intro={s.passkeys.intro}
      act={
        <a href="/sign-in/passkeys" className="button" data-kind="main">
          {s.passkeys.make}
        </a>
      }
    >
      <Listed query={passkeys} empty={s.passkeys.empty} emptyWhy={s.passkeys.emptyWhy}>
        {(passkey) => <One key={passkey.id} passkey={passkey} />}
      </Listed>
    </Section>
  );
}
