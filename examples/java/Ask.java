// Asks one question, prints the answer as it is written, then its sources. Run: make languages
import com.radrag.assistant.v1.AssistantServiceGrpc;
import com.radrag.assistant.v1.Citation;
import com.radrag.assistant.v1.Finish;
import com.radrag.assistant.v1.GenerateStreamRequest;
import com.radrag.assistant.v1.GenerateStreamResponse;
import com.radrag.assistant.v1.RankedParent;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

public final class Ask {
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    public static void main(String[] arguments) throws InterruptedException {
        String address = System.getenv().getOrDefault("RADRAG_GATEWAY_ADDRESS", "127.0.0.1:50051");
        // Plaintext is for this machine; a gateway beyond it is called over TLS.
        ManagedChannel channel = NettyChannelBuilder.forTarget(address).usePlaintext().build();
        try {
            ask(channel, arguments[0]);
        } catch (StatusRuntimeException failure) {
            System.err.println(failure.getStatus());
            System.exit(1);
        } finally {
            channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        }
    }

    private static void ask(ManagedChannel channel, String question) {
        // A call without a deadline may wait for ever; the service stops working when it passes.
        AssistantServiceGrpc.AssistantServiceBlockingStub service = AssistantServiceGrpc.newBlockingStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(credential()))
                .withDeadlineAfter(60, TimeUnit.SECONDS);
        GenerateStreamRequest request = GenerateStreamRequest.newBuilder().setQuestion(question).build();
        List<RankedParent> sources = new ArrayList<>();
        service.generateStream(request).forEachRemaining(frame -> show(frame, sources));
    }

    private static Metadata credential() {
        Metadata headers = new Metadata();
        String key = System.getenv("RADRAG_KEY");
        if (key != null) {
            headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + key);
        }
        return headers;
    }

    private static void show(GenerateStreamResponse frame, List<RankedParent> sources) {
        switch (frame.getEventCase()) {
            case SOURCES -> sources.addAll(frame.getSources().getRankedParentsList());
            case TEXT -> OUT.print(frame.getText());
            case FINISH -> end(frame.getFinish(), sources);
            default -> { } // a newer gateway may send what this program does not know
        }
    }

    private static void end(Finish finish, List<RankedParent> sources) {
        OUT.printf("%n%s: %s%n", finish.getOutcome(), finish.getReason());
        for (Citation one : finish.getCitationsList()) {
            String title = sources.get(one.getMarker() - 1).getDocument().getTitle();
            OUT.printf("[%d] %s: %s%s%n", one.getMarker(), title, one.getQuote(), one.getVerified() ? " ✓" : "");
        }
    }
}
