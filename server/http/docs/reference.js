// Shows the OpenAPI document of the service that this page comes from, at whatever address that is reached.
const root = new URL('../..', document.currentScript.src);

async function show() {
  const response = await fetch(new URL('openapi.json', root));
  const spec = await response.json();
  // Requests tried out from here go where the page came from.
  spec.servers = [{ url: root.href.replace(/\/$/, '') }];
  window.SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    presets: [window.SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayOperationId: true,
    displayRequestDuration: true,
    filter: true,
    // No host outside checks the document or learns of it.
    validatorUrl: null,
  });
}

show().catch((error) => {
  document.querySelector('#reference').textContent = `The reference could not be loaded: ${error.message}`;
});
