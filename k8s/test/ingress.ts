import { all } from './manifests.js';
import { type Ingress, startNginx } from './nginx.js';
import { type ControllerSettings, nginxConfiguration } from './nginx-configuration.js';
import type { Manifest } from './render.js';

/** Starts an nginx made of the manifests' Ingresses. @param settings the ConfigMap of the controller */
export function startIngress(
  manifests: readonly Manifest[],
  backends: Readonly<Record<string, string>>,
  settings: ControllerSettings = {},
): Promise<Ingress> {
  // The console has a separate controller.
  const ingresses = all(manifests, 'Ingress').filter(({ spec }) => spec?.ingressClassName === 'nginx');
  return startNginx((place) => nginxConfiguration(ingresses, { ...place, backends }, settings));
}
