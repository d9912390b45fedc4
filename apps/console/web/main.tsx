import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/console.tsx';
import { SignInConfirmed } from './app/proven.tsx';
import { applyTheme, readStoredTheme } from './app/theme.ts';
import { signInConfirmedPath } from './data/proof.ts';

applyTheme(readStoredTheme());
const rootElement = document.getElementById('root');
if (rootElement === null) throw new Error('the page has no root');
createRoot(rootElement).render(
  <StrictMode>
    {globalThis.location.pathname === signInConfirmedPath ? <SignInConfirmed /> : <App />}
  </StrictMode>,
);
