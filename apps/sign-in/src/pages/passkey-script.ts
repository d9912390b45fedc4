/**
 * The script of pages with passkeys. It shows the button if the browser supports passkeys; without scripts,
 * people use the link by e-mail. No build step processes it, so it is written in plain browser JavaScript.
 */
export const passkeyScript = `
'use strict';
const form = document.getElementById('passkey');
const can = window.PublicKeyCredential && PublicKeyCredential.parseRequestOptionsFromJSON
  && PublicKeyCredential.prototype.toJSON;
const say = (text) => { document.getElementById('passkey-problem').textContent = text; };
const post = async (path, body) => {
  const answer = await fetch(path, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.status === 401 ? 'This passkey is not registered here.' : said.message);
  return said;
};
const make = async () => {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(await post('/auth/passkeys/options', {}));
  const response = await navigator.credentials.create({ publicKey });
  return post('/auth/passkeys', { name: form.elements.name.value, response: response.toJSON() });
};
const prove = async () => {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await post('/auth/passkey/options', {}));
  const response = await navigator.credentials.get({ publicKey });
  return post('/auth/passkey', { to: form.elements.to.value, response: response.toJSON() });
};
if (form && can) {
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    say('');
    const button = form.querySelector('button');
    button.disabled = true;
    try {
      const { to } = await (form.dataset.does === 'make' ? make() : prove());
      location.assign(to);
    } catch (error) {
      const isLeft = error.name === 'NotAllowedError' || error.name === 'AbortError';
      say(isLeft ? 'The passkey prompt was closed or timed out. Try again.'
        : error.name === 'InvalidStateError' ? 'This device already has a passkey for your account.'
        : error.message);
      button.disabled = false;
    }
  });
}
`;
