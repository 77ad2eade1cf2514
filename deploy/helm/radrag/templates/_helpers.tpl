{{- define "radrag.name" -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- end }}

{{- define "radrag.selector" -}}
app.kubernetes.io/name: radrag
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "radrag.labels" -}}
{{ include "radrag.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- /* root, name: an image of ours, by digest where one is given */}}
{{- define "radrag.image" -}}
{{- $digest := get .root.Values.image.digests .name -}}
{{- printf "%s/%s" .root.Values.image.registry .name -}}
{{- if $digest }}@{{ $digest }}{{ else }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}{{ end -}}
{{- end }}

{{- /* root, role: the name of a role's headless service: its clients resolve pods, and dial the pods' port */}}
{{- define "radrag.host" -}}
{{- printf "%s-%s.%s.svc.%s" (include "radrag.name" .root) .role .root.Release.Namespace .root.Values.clusterDomain -}}
{{- end }}

{{- define "radrag.modelUrl" -}}
{{- $model := get .root.Values.models .role -}}
{{- if $model.enabled }}{{ include "radrag.host" . }}:{{ int $model.port }}
{{- else }}{{ required (printf "models.%s.url is required where models.%s.enabled is false" .role .role) $model.url }}{{ end -}}
{{- end }}

{{- define "radrag.tlsSecret" -}}
{{- if .Values.tls.secret }}{{ .Values.tls.secret }}{{ else if .Values.tls.certManager.enabled }}{{ include "radrag.name" . }}-tls{{ end -}}
{{- end }}

{{- /* Things no schema can hold against each other. */}}
{{- define "radrag.check" -}}
{{- $v := .Values -}}
{{- if not (or $v.access.callersSecret $v.access.jwt.issuer) }}{{ fail "access.callersSecret or access.jwt.issuer is required: nothing starts without a way to tell callers apart" }}{{ end -}}
{{- if and $v.access.jwt.issuer (not $v.access.jwt.audience) }}{{ fail "access.jwt.audience is required with access.jwt.issuer" }}{{ end -}}
{{- if not (or $v.tls.terminated (include "radrag.tlsSecret" .)) }}{{ fail "tls.secret, tls.certManager.enabled or tls.terminated is required" }}{{ end -}}
{{- if and $v.tls.certManager.enabled (not $v.tls.certManager.issuer) }}{{ fail "tls.certManager.issuer is required with tls.certManager.enabled" }}{{ end -}}
{{- if not $v.access.credentialSecret }}{{ fail "access.credentialSecret is required: the key that gateway and ingest show to retrieval" }}{{ end -}}
{{- $many := or (gt (int $v.retrieval.replicas) 1) (ne $v.retrieval.autoscaling.kind "none") -}}
{{- if and $many (or (ne $v.store.kind "server") (not $v.store.versionsSecret)) }}{{ fail "retrieval.replicas above 1 needs store.kind server and store.versionsSecret" }}{{ end -}}
{{- if and (eq $v.store.kind "server") (not $v.store.qdrant.url) }}{{ fail "store.qdrant.url is required with store.kind server" }}{{ end -}}
{{- $readers := or (gt (int $v.ingest.replicas) 1) (ne $v.ingest.autoscaling.kind "none") -}}
{{- if and $readers (or (not $v.store.catalogueSecret) (ne $v.ingest.persistence.accessMode "ReadWriteMany")) }}{{ fail "ingest.replicas above 1 needs store.catalogueSecret and ingest.persistence.accessMode ReadWriteMany" }}{{ end -}}
{{- range $role, $model := $v.models -}}
{{- if and $model.enabled $model.weights.folder (not (or $v.weights.claim $v.weights.create.enabled)) }}{{ fail (printf "models.%s.weights.folder needs weights.claim or weights.create" $role) }}{{ end -}}
{{- include "radrag.checkScaler" (dict "root" $ "at" (printf "models.%s.autoscaling" $role) "its" $model.autoscaling) -}}
{{- if and (eq $model.autoscaling.kind "hpa") (eq $model.autoscaling.signal "queueRatio") }}{{ fail (printf "models.%s.autoscaling.signal queueRatio needs kind keda; with hpa take pending" $role) }}{{ end -}}
{{- if and (ne $role "generator") (eq $model.autoscaling.signal "streams") }}{{ fail (printf "models.%s.autoscaling.signal streams is the generator's: take queueRatio or pending" $role) }}{{ end -}}
{{- if and (eq $model.image "generator-gpu") (ne $model.autoscaling.kind "none") (ne $model.autoscaling.signal "streams") }}{{ fail (printf "models.%s.autoscaling.signal must be streams: before vLLM nothing waits in Triton's queue" $role) }}{{ end -}}
{{- end -}}
{{- range $role := list "gateway" "retrieval" "ingest" -}}
{{- include "radrag.checkScaler" (dict "root" $ "at" (printf "%s.autoscaling" $role) "its" (get $v $role).autoscaling) -}}
{{- end -}}
{{- end }}

{{- define "radrag.checkScaler" -}}
{{- if and (eq .its.kind "keda") (not .root.Values.monitoring.prometheusUrl) }}{{ fail (printf "%s.kind keda needs monitoring.prometheusUrl" .at) }}{{ end -}}
{{- if gt (int .its.min) (int .its.max) }}{{ fail (printf "%s.min is above its max" .at) }}{{ end -}}
{{- end }}

{{- define "radrag.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "radrag.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "radrag.antiAffinity" -}}
{{- if ne .root.Values.antiAffinity "none" }}
affinity:
  podAntiAffinity:
    {{- if eq .root.Values.antiAffinity "required" }}
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {{- include "radrag.selector" . | nindent 12 }}
    {{- else }}
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels: {{- include "radrag.selector" . | nindent 14 }}
    {{- end }}
{{- end }}
{{- end }}

{{- /* The variables of gateway, retrieval and ingest, and of the jobs. */}}
{{- define "radrag.env" -}}
{{- $v := .root.Values -}}
- {name: RADRAG_EMBEDDER_URL, value: {{ include "radrag.modelUrl" (dict "root" .root "role" "embedder") | quote }}}
- {name: RADRAG_EMBEDDER_MODEL, value: {{ $v.models.embedder.model | quote }}}
- {name: RADRAG_RERANKER_URL, value: {{ include "radrag.modelUrl" (dict "root" .root "role" "reranker") | quote }}}
- {name: RADRAG_RERANKER_MODEL, value: {{ $v.models.reranker.model | quote }}}
- {name: RADRAG_GENERATOR_URL, value: {{ include "radrag.modelUrl" (dict "root" .root "role" "generator") | quote }}}
- {name: RADRAG_GENERATOR_MODEL, value: {{ $v.models.generator.model | quote }}}
- {name: RADRAG_GENERATOR_TEMPLATE, value: {{ $v.models.generator.template | quote }}}
{{- range $role, $port := dict "gateway" 50051 "retrieval" 50052 "ingest" 50053 }}
- name: RADRAG_{{ upper $role }}_ADDRESS
  value: {{ if eq $role $.role }}0.0.0.0{{ else }}{{ include "radrag.host" (dict "root" $.root "role" $role) }}{{ end }}:{{ $port }}
{{- end }}
- {name: RADRAG_STORE, value: {{ $v.store.kind | quote }}}
{{- if eq $v.store.kind "server" }}
- {name: RADRAG_QDRANT_URL, value: {{ $v.store.qdrant.url | quote }}}
- {name: RADRAG_QDRANT_SHARDS, value: {{ $v.store.qdrant.shards | quote }}}
- {name: RADRAG_QDRANT_REPLICAS, value: {{ $v.store.qdrant.replicas | quote }}}
{{- if and $v.store.qdrant.apiKeySecret (eq .role "retrieval") }}
- {name: RADRAG_QDRANT_API_KEY_FILE, value: /etc/radrag/qdrant/api-key}
{{- end }}
{{- end }}
{{- if $v.store.versionsSecret }}
- name: RADRAG_VERSIONS_URL
  valueFrom: {secretKeyRef: {name: {{ $v.store.versionsSecret }}, key: url}}
{{- end }}
{{- if $v.store.catalogueSecret }}
- name: RADRAG_CATALOGUE_URL
  valueFrom: {secretKeyRef: {name: {{ $v.store.catalogueSecret }}, key: url}}
{{- end }}
{{- if and $v.models.embedder.weights.folder (has .role (list "ingest" "job")) }}
- {name: RADRAG_EMBEDDER_TOKENIZER, value: /models/{{ $v.models.embedder.weights.folder }}/tokenizer.json}
{{- end }}
{{- if $v.access.callersSecret }}
- {name: RADRAG_CALLERS_FILE, value: /etc/radrag/callers/callers.json}
{{- end }}
{{- with $v.access.jwt }}{{- if .issuer }}
- {name: RADRAG_JWT_ISSUER, value: {{ .issuer | quote }}}
- {name: RADRAG_JWT_AUDIENCE, value: {{ .audience | quote }}}
- {name: RADRAG_JWT_JWKS, value: {{ .jwks | quote }}}
{{- end }}{{- end }}
- {name: RADRAG_CREDENTIAL_FILE, value: /etc/radrag/credential/token}
{{- if include "radrag.tlsSecret" .root }}
- {name: RADRAG_TLS_CERT_FILE, value: /etc/radrag/tls/tls.crt}
- {name: RADRAG_TLS_KEY_FILE, value: /etc/radrag/tls/tls.key}
- {name: RADRAG_TLS_CA_FILE, value: /etc/radrag/tls/ca.crt}
{{- if $v.tls.requireClientCertificate }}
- {name: RADRAG_TLS_CLIENT_CA_FILE, value: /etc/radrag/tls/ca.crt}
{{- end }}
{{- else }}
- {name: RADRAG_TLS_TERMINATED, value: "true"}
{{- end }}
{{- with $v.monitoring.traces }}
- {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }}}
{{- end }}
{{- $own := dict }}
{{- if hasKey $v .role }}{{ $own = (get $v .role).env }}{{ end }}
{{- range $name, $value := merge (dict) $own $v.env }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}

{{- define "radrag.mounts" -}}
{{- $v := .root.Values -}}
- {name: tmp, mountPath: /tmp}
- {name: state, mountPath: /var/lib/radrag}
- {name: credential, mountPath: /etc/radrag/credential, readOnly: true}
{{- if $v.access.callersSecret }}
- {name: callers, mountPath: /etc/radrag/callers, readOnly: true}
{{- end }}
{{- if include "radrag.tlsSecret" .root }}
- {name: tls, mountPath: /etc/radrag/tls, readOnly: true}
{{- end }}
{{- if and (eq .role "retrieval") $v.store.qdrant.apiKeySecret }}
- {name: qdrant, mountPath: /etc/radrag/qdrant, readOnly: true}
{{- end }}
{{- if and (eq .role "ingest") $v.models.embedder.weights.folder }}
- {name: weights, mountPath: /models, readOnly: true}
{{- end }}
{{- end }}

{{- define "radrag.volumes" -}}
{{- $v := .root.Values -}}
- {name: tmp, emptyDir: {}}
- name: state
  {{- if eq .role "gateway" }}
  emptyDir: {}
  {{- else }}
  persistentVolumeClaim: {claimName: {{ include "radrag.name" .root }}-{{ .role }}}
  {{- end }}
- {name: credential, secret: {secretName: {{ $v.access.credentialSecret }}}}
{{- if $v.access.callersSecret }}
- {name: callers, secret: {secretName: {{ $v.access.callersSecret }}}}
{{- end }}
{{- with include "radrag.tlsSecret" .root }}
- {name: tls, secret: {secretName: {{ . }}}}
{{- end }}
{{- if and (eq .role "retrieval") $v.store.qdrant.apiKeySecret }}
- {name: qdrant, secret: {secretName: {{ $v.store.qdrant.apiKeySecret }}}}
{{- end }}
{{- if and (eq .role "ingest") $v.models.embedder.weights.folder }}
- {name: weights, persistentVolumeClaim: {claimName: {{ include "radrag.weightsClaim" .root }}, readOnly: true}}
{{- end }}
{{- end }}

{{- define "radrag.weightsClaim" -}}
{{- .Values.weights.claim | default (printf "%s-weights" (include "radrag.name" .)) -}}
{{- end }}
