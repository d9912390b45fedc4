import { useState } from 'react';
import { openSessionByToken, type ConsoleSession } from '../data/session.ts';
import { Logo } from '../components/icons.tsx';
import { errorText } from '../components/notices.tsx';
import { useTitle } from '../components/title.ts';
import { t } from '../messages/index.ts';

interface TokenSignInProps {
  readonly onOpen: (session: ConsoleSession) => void;
}

/** Asks for a token if the installation has no sign-in. The token stays in the memory of this window. */
export function TokenSignIn({ onOpen: onSessionOpened }: TokenSignInProps) {
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  useTitle(t.gate.open);
  const open = async (): Promise<void> => {
    setBusy(true);
    setRefusal(null);
    try {
      const session = await openSessionByToken(token.trim());
      if (session === undefined) setRefusal(t.gate.refused);
      else onSessionOpened(session);
    } catch (error) {
      setRefusal(errorText(error));
    }
    setBusy(false);
  };
  return (
    <main className="gate">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void open();
        }}
      >
        <Logo />
        <h1>{t.gate.title}</h1>
        <p className="muted">{t.gate.intro}</p>
        <label className="label">
          {t.gate.token}
          <input
            className="field"
            type="password"
            autoComplete="off"
            spellCheck={false}
            required
            value={token}
            aria-invalid={refusal !== null}
            aria-describedby="gate-refusal"
            onChange={({ target }) => setToken(target.value)}
          />
        </label>
        <p id="gate-refusal" className="gate-error" role="alert">
          {refusal}
        </p>
        <button type="submit" className="button" data-kind="main" disabled={isBusy}>
          {isBusy ? t.gate.opening : t.gate.open}
        </button>
        <p className="muted">{t.gate.how}</p>
      </form>
    </main>
  );
}
