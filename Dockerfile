# One static binary in an image without a shell. Built from a clean checkout by:
#   docker build --build-arg VERSION=$(git describe --tags --always) -t reminder-operator .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src

# Modules first: they change less often than the source.
COPY go.mod go.sum ./
RUN go mod download

COPY . .
ARG TARGETOS TARGETARCH VERSION=dev
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH GOTOOLCHAIN=local \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/reminder-operator/reminder-operator/cmd.Version=$VERSION" -o /reminder-operator .

FROM gcr.io/distroless/static:nonroot
COPY --from=build /reminder-operator /reminder-operator
USER 65532:65532
ENTRYPOINT ["/reminder-operator"]
CMD ["controller"]
