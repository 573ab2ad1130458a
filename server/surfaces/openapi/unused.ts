import type { oas31 } from 'zod-openapi';

/** Removes components that are not referenced, also indirectly. */
export function withoutUnused(document: oas31.OpenAPIObject): oas31.OpenAPIObject {
  const { securitySchemes, ...referable } = document.components ?? {};
  const text = JSON.stringify(document);
  let hasDropped = false;
  const components = Object.fromEntries(
    Object.entries(referable).map(([kind, entries]) => {
      const used = Object.entries(entries as object).filter(([name]) =>
        text.includes(`"#/components/${kind}/${name}"`),
      );
      hasDropped ||= used.length < Object.keys(entries as object).length;
      return [kind, Object.fromEntries(used)];
    }),
  );
  const left = { ...document, components: { ...components, ...(securitySchemes && { securitySchemes }) } };
  return hasDropped ? withoutUnused(left) : left;
}
