// Shows the OpenAPI document of the service that this page comes from, at whatever address that is reached.
const root = new URL('../../..', document.currentScript.src);

// The reference has colours of its own for the dark, by a class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColours);
followColours();

/** The description says how to set them; the hash of the address is taken by the operations. */
function goToVariables() {
  const headings = [...document.querySelectorAll('.info h2')];
  const heading = headings.find(({ textContent }) => textContent === 'Running the examples');
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus();
  heading.scrollIntoView();
}

/** Shows the command of each operation above its answers. */
const showsSamples = ({ React }) => {
  const { createElement, useState } = React;

  function Sample({ source }) {
    const [copied, setCopied] = useState(false);
    const copy = async () => {
      await navigator.clipboard.writeText(source);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    };
    return createElement(
      'section',
      { className: 'sample' },
      createElement(
        'div',
        { className: 'sample-head' },
        createElement('h4', null, 'As a command'),
        createElement(
          'button',
          { type: 'button', className: 'variables', onClick: goToVariables },
          'What its variables are',
        ),
        createElement(
          'button',
          { type: 'button', className: 'btn', onClick: copy, 'aria-live': 'polite' },
          copied ? 'Copied' : 'Copy',
        ),
      ),
      createElement('pre', { tabIndex: 0, 'aria-label': 'The operation as a command' }, source),
    );
  }

  return {
    wrapComponents: {
      responses: (Responses) => (props) => {
        const sample = props.specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples', 0]);
        return createElement(
          React.Fragment,
          null,
          sample ? createElement(Sample, { source: sample.get('source') }) : null,
          createElement(Responses, props),
        );
      },
    },
  };
};

async function show() {
  const response = await fetch(new URL('openapi.json', root));
  const spec = await response.json();
  // Requests tried out from here go where the page came from.
  spec.servers = [{ url: root.href.replace(/\/$/, '') }];
  window.SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    presets: [window.SwaggerUIBundle.presets.apis],
    plugins: [showsSamples],
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
