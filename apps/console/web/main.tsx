import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/console.tsx';
import { SignInConfirmed } from './app/proven.tsx';
import { applyTheme, currentTheme } from './app/theme.ts';
import { provenPath } from './data/proof.ts';

applyTheme(currentTheme());
const place = document.getElementById('root');
if (place === null) throw new Error('the page has no root');
createRoot(place).render(
  <StrictMode>{globalThis.location.pathname === provenPath ? <SignInConfirmed /> : <App />}</StrictMode>,
);
