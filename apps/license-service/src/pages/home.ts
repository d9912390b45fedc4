/** The home page of the service, with links for customers, support and developers. */
import { html } from '@muster/http';
import { type ServicePage } from './layout.ts';

export const homePage = (baseUrl: string): ServicePage => ({
  title: 'Licenses',
  body: html`<header class="note">
      <h1>License service</h1>
      <p>This service issues license keys and checks them when a program starts.</p>
    </header>
    <section class="card">
      <h2>Your license</h2>
      <p>
        Open the link in the e-mail of your purchase. It shows your machines, and you can release one there.
        Ask the seller for a new link if you no longer have it.
      </p>
    </section>
    <section class="card">
      <h2>Support</h2>
      <p>Find a license, see why a machine was refused, and release a machine.</p>
      <p><a href="/support">Sign in to support</a></p>
    </section>
    <section class="card">
      <h2>API</h2>
      <p>Programs call ${baseUrl}. These documents describe every request:</p>
      <ul class="rows">
        <li><a href="/openapi.json">OpenAPI document of the service</a></li>
        <li><a href="/api/operators/openapi.json">OpenAPI document for operators</a></li>
      </ul>
    </section>`,
});
