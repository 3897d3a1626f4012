import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { OutsideHosts } from '#platform/http/outside-hosts.js';
import { OutsideHttp } from '#platform/http/outside-http.js';
import {
  type ClientChanges,
  ClientDocumentOptions,
  ClientDocumentsService,
} from './client-documents.service.js';
import { metadataHosts } from './metadata-hosts.js';

interface ClientDocumentSettings {
  readonly CLIENT_METADATA_HOSTS: string;
  readonly OUTSIDE_FETCH_ALLOW: string;
}

/** Global modules must provide the stores, the scopes and the audit trail. */
@Module({})
export class ClientDocumentsModule {
  /** @param changes provides `ClientChanges` */
  static forRoot(
    { CLIENT_METADATA_HOSTS, OUTSIDE_FETCH_ALLOW }: ClientDocumentSettings,
    changes: Provider<ClientChanges>,
  ): DynamicModule {
    return {
      module: ClientDocumentsModule,
      global: true,
      providers: [
        { provide: OutsideHttp, useValue: new OutsideHttp(new OutsideHosts(OUTSIDE_FETCH_ALLOW)) },
        { provide: ClientDocumentOptions, useValue: { hosts: metadataHosts(CLIENT_METADATA_HOSTS) } },
        changes,
        ClientDocumentsService,
      ],
      exports: [OutsideHttp, ClientDocumentsService],
    };
  }
}
